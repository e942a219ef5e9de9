// When the sidebar asks: as often as the last response says, or as soon as something has changed, and only while somebody can see it.

/** Ages go on by the editor's own clock. */
const TICK_MS = 1_000;

export interface Watch {
  /** Asks at once, or as soon as the question that is under way is over. */
  now(): void;
}

/** What is done while an element is in sight. */
export interface Watcher {
  /** Never rejects. @returns milliseconds until it is called again */
  refresh(): Promise<number>;
  /** A second has passed. */
  tick(): void;
}

/**
 * Calls the watcher again and again while `element` is in sight; otherwise there is neither a timer nor a call.
 * @param closing ends it
 */
export function watchWhileShown(
  element: HTMLElement,
  { refresh, tick }: Watcher,
  closing: AbortSignal,
): Watch {
  let isInSight = false;
  let isRunning = false;
  let isWanted = false;
  let timer: number | undefined;
  let ticking: number | undefined;

  const isShown = () => isInSight && document.visibilityState === 'visible' && !closing.aborted;
  const run = async () => {
    window.clearTimeout(timer);
    timer = undefined;
    isWanted = isRunning;
    if (isRunning || !isShown()) {
      return;
    }
    isRunning = true;
    const ms = await refresh();
    isRunning = false;
    if (isWanted) {
      void run();
    } else if (isShown()) {
      timer = window.setTimeout(() => void run(), ms);
    }
  };
  const update = () => {
    window.clearInterval(ticking);
    if (isShown()) {
      ticking = window.setInterval(tick, TICK_MS);
      void run();
    } else {
      window.clearTimeout(timer);
      timer = undefined;
    }
  };
  const sight = new IntersectionObserver((entries) => {
    const last = entries.at(-1);
    isInSight = last?.isIntersecting === true;
    update();
  });
  sight.observe(element);
  document.addEventListener('visibilitychange', update, { signal: closing });
  closing.addEventListener('abort', () => {
    sight.disconnect();
    update();
  });
  return { now: () => void run() };
}
