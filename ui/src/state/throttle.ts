// What many events in a row would have done many times a second is done at once, and then at most once in a while.

export interface Throttled {
  (): void;
  /** Forgets what still waits. */
  cancel: () => void;
}

/** `run` at once; whoever calls again within `pause_ms` has it run once more, at the end of the pause. */
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
