// Following a study while it runs: data.json is asked for again and again, and sent only where it has changed.

const PERIOD = 1000;
const LONGEST_PERIOD = 15000;

class LiveFeed {
  constructor(node, receive) {
    this.node = node;
    this.receive = receive;
    this.tag = null;
    this.changed = null;
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
        this.receive(await answer.json());
        this.tag = answer.headers.get("ETag");
        this.changed = new Date();
      } else if (answer.status !== 304) {
        throw new Error(`the server answers ${answer.status}`);
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
    const change = this.changed ? `last change ${this.changed.toTimeString().slice(0, 8)}` : "no data yet";
    const words = {
      connecting: "connecting …",
      live: `live, ${change}`,
      gone: `server gone, retrying; ${change}`,
    };
    this.node.dataset.state = this.state;
    set_text(this.node, words[this.state]);
    this.node.title = this.state === "gone" ? this.reason : "";
  }
}
