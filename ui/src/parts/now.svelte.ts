// The current time, updated every 30 seconds for relative times.
export const now = $state({ ms: Date.now() });
setInterval(() => {
  if (!document.hidden) now.ms = Date.now();
}, 30_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.ms = Date.now();
});
