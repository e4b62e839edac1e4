// Throttles work that many events trigger. Runs the work immediately, then at most once per pause.

export interface Throttled {
  (): void;
  /** Cancels the pending run. */
  cancel: () => void;
}

/**
 * Calls `run` immediately. Calls within `pause_ms` are merged into one run at the end of the pause.
 */
export function throttle(run: () => void, pause_ms: number): Throttled {
  let pause: ReturnType<typeof setTimeout> | null = null;
  let waits = false;
  const go = () => {
    waits = false;
    pause = setTimeout(() => {
      pause = null;
      if (waits) go();
    }, pause_ms);
    run();
  };
  const throttled = () => {
    if (pause === null) go();
    else waits = true;
  };
  const cancel = () => {
    if (pause !== null) clearTimeout(pause);
    pause = null;
    waits = false;
  };
  return Object.assign(throttled, { cancel });
}
