// Following a study while it runs: data.json is asked for again and again, and sent only where it has changed.

const PERIOD = 1000;
const LONGEST_PERIOD = 15000;
const LATE = 60;  // seconds beyond three times what was to be expected: then nobody may be at work

/** Makes a change and leaves what the reader looks at where it was in the window, whatever grows above it. */
function keep_place(change) {
  const top_of = (node) => node.getBoundingClientRect().top;
  // The first heading in the window; where one part fills it, that part's own.
  /** @type {NodeListOf<HTMLElement>} */
  const all = document.querySelectorAll("main :is(h2, h3)");
  const headings = [...all].filter((node) => node.offsetHeight > 0);
  const in_window = headings.find((node) => top_of(node) >= 0);
  const anchor = in_window && top_of(in_window) < innerHeight ? in_window : headings.filter((node) => top_of(node) < 0).pop();
  const top = anchor && top_of(anchor);
  change();
  // "instant" is newer than the type that TypeScript has for it.
  const behavior = /** @type {any} */ ("instant");
  if (anchor && scrollY > 0) scrollBy({top: top_of(anchor) - top, behavior});
}

class LiveFeed {
  constructor(node, receive) {
    this.node = node;
    this.receive = receive;
    this.tag = null;
    this.changed = null;
    this.planned = null;
    this.period = PERIOD;
    this.state = "connecting";
    node.hidden = false;
    this.say();
  }

  async follow() {
    for (;;) {
      await this.ask();
      this.say();
      await new Promise((resolve) => setTimeout(resolve, this.period));
    }
  }

  async ask() {
    try {
      const headers = this.tag === null ? {} : {"If-None-Match": this.tag};
      const answer = await fetch("data.json", {cache: "no-store", headers});
      if (answer.status === 200) {
        const data = await answer.json();
        keep_place(() => this.receive(data));
        this.tag = answer.headers.get("ETag");
        this.changed = new Date();
        this.planned = data.planned ?? null;
      } else if (answer.status !== 304) {
        this.reason = (await answer.json().catch(() => null))?.error ?? `the server answers ${answer.status}`;
        this.state = "unreadable";
        return;
      }
      this.state = "live";
      this.period = PERIOD;
    } catch (error) {
      this.state = "gone";
      this.reason = String(error.message ?? error);
      this.period = Math.min(LONGEST_PERIOD, this.period * 1.6);
    }
  }

  say() {
    // Only the state is read aloud, not every change.
    const [state, count, change] = this.node.children;
    this.node.dataset.state = this.state;
    set_text(state, {connecting: "connecting …", live: "live", gone: "server gone, retrying",
      unreadable: `the study cannot be read: ${this.reason}`}[this.state]);
    set_text(count, this.count_text());
    set_text(change, this.changed ? `(last change ${this.changed.toTimeString().slice(0, 8)})` : "");
    this.node.title = this.state === "gone" ? this.reason : "";
  }

  /** "5 of 18 runs, about 2 min left": between two answers the time goes on here. */
  count_text() {
    if (!this.planned) return "";
    const {done, total, seconds_left: left} = this.planned;
    const count = `${grouped(done)} of ${plural(total, "run")}`;
    if (done >= total) return `${count}, all done`;
    if (this.state !== "live" || !is_number(left)) return count;
    const waited = (Date.now() - this.changed.getTime()) / 1000;
    if (waited < 3 * left + LATE) return `${count}, ${left - waited < 1 ? "a moment" : duration_text(left - waited)} left`;
    return `${count}, none new for ${duration_text(waited)}`;
  }
}
