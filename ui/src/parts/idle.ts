// When what is not needed at once gets its turn. Each gives the function that calls it off.

/** After the browser has shown what stands there now. */
export function afterPaint(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => (timer = setTimeout(run));
  // A window that nobody sees is not painted.
  if (document.hidden) soon();
  const frame = document.hidden ? 0 : requestAnimationFrame(soon);
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** Once the browser has nothing better to do, or after a second. */
export function whenIdle(run: () => void): () => void {
  // Safari has it since 2026 only.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(run, 500);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(run, { timeout: 1000 });
  return () => cancelIdleCallback(idle);
}
