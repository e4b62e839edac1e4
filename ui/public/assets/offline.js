// Opens the page that the user asked for as soon as the gateway responds.
const retry = async () => {
  if (document.hidden) return;
  try {
    const { ok } = await fetch('/api/auth/status', { cache: 'no-store' });
    if (ok) location.reload();
  } catch {
    // The gateway does not respond yet.
  }
};
setInterval(retry, 3000);
addEventListener('online', retry);
document.addEventListener('visibilitychange', retry);
