/** The names beside the nodes: larger nodes come first, and names do not overlap. */

export interface Named {
  x: number;
  y: number;
  size: number;
  label?: string | null;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const HEIGHT = 16;
const GAP = 4;

/** Collects the names of one frame and draws those that fit. */
export class Labels {
  private wanted: Named[] = [];
  private context: CanvasRenderingContext2D | null = null;

  constructor(
    private readonly font: string,
    private readonly look: () => { ink: string; ground: string },
  ) {}

  begin(): void {
    this.wanted = [];
  }

  want(context: CanvasRenderingContext2D, node: Named): void {
    this.context = context;
    if (node.label) this.wanted.push({ x: node.x, y: node.y, size: node.size, label: node.label });
  }

  write(): void {
    const context = this.context;
    if (!context || !this.wanted.length) return;
    const width = context.canvas.clientWidth || context.canvas.width;
    const taken: Box[] = this.wanted.map((node) => around(node));
    context.font = `12px ${this.font}`;
    context.lineJoin = "round";
    for (const node of [...this.wanted].sort((one, other) => other.size - one.size)) {
      const long = context.measureText(node.label ?? "").width;
      const at = [node.x + node.size + GAP, node.x - node.size - GAP - long].find(
        (left) => left >= 0 && left + long <= width && isFree(boxAt(left, node.y, long), taken, around(node)),
      );
      if (at === undefined) continue;
      taken.push(boxAt(at, node.y, long));
      const { ink, ground } = this.look();
      // An outline in the background colour keeps it readable on edges.
      context.strokeStyle = ground;
      context.lineWidth = 3;
      context.strokeText(node.label ?? "", at, node.y + GAP);
      context.fillStyle = ink;
      context.fillText(node.label ?? "", at, node.y + GAP);
    }
  }
}

const around = ({ x, y, size }: Named): Box => ({ left: x - size, top: y - size, right: x + size, bottom: y + size });

const boxAt = (left: number, y: number, long: number): Box => ({ left, top: y - HEIGHT / 2, right: left + long, bottom: y + HEIGHT / 2 });

function isFree(box: Box, taken: Box[], own: Box): boolean {
  return !taken.some(
    (other) =>
      !(other.left === own.left && other.top === own.top) &&
      box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top,
  );
}
