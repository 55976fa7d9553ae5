import "@fontsource-variable/inter";
import "@fontsource-variable/source-serif-4";

import "./style/base.css";
import "./style/parts.css";
import "./style/views.css";

import { render } from "preact";

import { App } from "./app";

const place = document.getElementById("app");
if (place) render(<App />, place);
