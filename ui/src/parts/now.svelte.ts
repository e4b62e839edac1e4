// The present, moved on twice a minute for all that tells how long ago something was.
export const now = $state({ ms: Date.now() });
setInterval(() => {
  if (!document.hidden) now.ms = Date.now();
}, 30_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.ms = Date.now();
});
