// The search of the site runs in a worker. A browser starts none for a page on file://, so there a hidden frame stands in for it.
(() => {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const load = (path) =>
        new Promise((loaded, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(path, document.baseURI).href;
          script.onload = loaded;
          script.onerror = failed;
          inside.document.body.append(script);
        });
      // What the worker's script calls to answer, and to load more scripts.
      inside.postMessage = (data) => setTimeout(() => this.answer(data));
      inside.importScripts = (...paths) => paths.reduce((before, path) => before.then(() => load(path)), Promise.resolve());
      this.ready = load(url);
    }

    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  if (location.protocol === "file:") {
    // The search looks for this name in the frame's parent.
    window.IFrameWorker = IFrameWorker;
    window.Worker = IFrameWorker;
  }
})();
