// When the sidebar asks: at most every two seconds, and only while somebody can see it.

const INTERVAL_MS = 2_000;

export interface Watch {
  /** Asks at once, or as soon as the question that is under way is over. */
  now(): void;
}

/**
 * Calls `refresh` again and again while `element` is in sight; otherwise there is neither a timer nor a call.
 * @param refresh never rejects
 */
export function watchWhileShown(element: HTMLElement, refresh: () => Promise<void>): Watch {
  let isInSight = false;
  let isRunning = false;
  let isWanted = false;
  let timer: number | undefined;

  const isShown = () => isInSight && document.visibilityState === 'visible';
  const run = async () => {
    window.clearTimeout(timer);
    timer = undefined;
    isWanted = isRunning;
    if (isRunning || !isShown()) {
      return;
    }
    isRunning = true;
    await refresh();
    isRunning = false;
    if (isWanted) {
      void run();
    } else if (isShown()) {
      timer = window.setTimeout(() => void run(), INTERVAL_MS);
    }
  };
  const update = () => {
    if (isShown()) {
      void run();
    } else {
      window.clearTimeout(timer);
      timer = undefined;
    }
  };
  new IntersectionObserver((entries) => {
    const last = entries.at(-1);
    isInSight = last?.isIntersecting === true;
    update();
  }).observe(element);
  document.addEventListener('visibilitychange', update);
  return { now: () => void run() };
}
