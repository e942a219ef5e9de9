// The second click of a double click: what the first one opens may take the place of the row that is meant.

/** Longer than the clicks of a double click are apart. */
const DOUBLE_CLICK_MS = 1_000;
const NOT_CLICKED = { key: '', at: Number.NEGATIVE_INFINITY };

export class SecondClicks {
  #clicked = NOT_CLICKED;

  /** Call it for each click on a row. @param at in milliseconds of `Event.timeStamp` */
  clicked(key: string, at: number): void {
    this.#clicked = { key, at };
  }

  /**
   * Here a second click counts for the row of the first, and for nothing that it would hit.
   * @param keyOf what row an element is in; undefined: none
   * @param moved called with that row where it is not there any more
   */
  catchIn(
    area: HTMLElement,
    keyOf: (target: Element) => string | undefined,
    moved: (key: string) => void,
  ): void {
    let isCaught = false;
    const look = (event: MouseEvent) => {
      if (event.type === 'mousedown') {
        if (event.detail <= 1) {
          this.#clicked = NOT_CLICKED;
        }
        const { key, at } = this.#clicked;
        const isFurther = event.timeStamp - at < DOUBLE_CLICK_MS;
        isCaught = isFurther && keyOf(event.target as Element) !== key;
        if (isCaught && event.detail === 2) {
          moved(key);
        }
      }
      // A key that presses a button is a click, too.
      if (isCaught && event.detail > 1) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    for (const type of ['mousedown', 'mouseup', 'click', 'dblclick'] as const) {
      area.addEventListener(type, look, true);
    }
  }
}
