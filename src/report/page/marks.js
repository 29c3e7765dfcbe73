// Charts of separate points: the pointer finds the nearest, the arrow keys go from point to point and from row to row.

class MarkFinder {
  /** `describe` gives the elements of a point's tooltip. */
  constructor(frame, describe) {
    this.frame = frame;
    this.describe = describe;
    this.groups = [];  // one array of {x, y, …} for each row, in the order of the arrow keys
    this.current = null;
    frame.listen({
      point: (place) => this.point(place),
      key: (name, is_far) => this.move(name, is_far ? 10 : 1),
      leave: () => this.leave(),
    });
  }

  /** The marks as they stand now. The one that is looked at stays, where there still is one at its place. */
  set_groups(groups) {
    this.groups = groups.filter((group) => group.length > 0);
    const [row, place] = this.current ?? [];
    if (this.groups[row]?.[place]) this.show(this.current, false);
    else this.leave();
  }

  leave() {
    this.current = null;
    this.frame.overlay.selectAll("*").remove();
    this.frame.hide_tooltip();
  }

  point([x, y]) {
    let nearest = null;
    let smallest = 40 ** 2;  // further away there is nothing to tell
    this.groups.forEach((group, row) => group.forEach((mark, place) => {
      const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (distance < smallest) [smallest, nearest] = [distance, [row, place]];
    }));
    if (nearest === null) this.leave();
    else this.show(nearest, false);
  }

  move(name, step) {
    if (this.groups.length === 0) return false;
    let [row, place] = this.current ?? [0, -1];
    if (name === "ArrowRight") place += step;
    else if (name === "ArrowLeft") place = this.current ? place - step : 0;
    else if (name === "ArrowDown") row += this.current ? 1 : 0;
    else if (name === "ArrowUp") row -= this.current ? 1 : 0;
    else if (name === "Home") place = 0;
    else if (name === "End") place = Infinity;
    else return false;
    row = (row + this.groups.length) % this.groups.length;
    place = Math.max(0, Math.min(place, this.groups[row].length - 1));
    this.show([row, place], true);
    return true;
  }

  show(current, is_spoken) {
    this.current = current;
    const mark = this.groups[current[0]][current[1]];
    this.frame.overlay.selectAll("*").remove();
    this.frame.overlay.append("circle").attr("class", "halo").attr("r", 8).attr("cx", mark.x).attr("cy", mark.y);
    this.frame.show_tooltip(mark.x, mark.y, this.describe(mark), is_spoken);
  }
}
