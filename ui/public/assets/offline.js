// Shows the text in the language of the page, which `src/state/language.ts` chooses in the same way.
const stored = () => {
  try {
    return localStorage.getItem('gatehouse.language');
  } catch {
    return null;
  }
};
const texts = [...document.querySelectorAll('[data-title]')];
const wanted = [stored() ?? '', ...navigator.languages].map((tag) => tag.split('-')[0].toLowerCase());
const language = wanted.find((one) => texts.some(({ lang }) => lang === one)) ?? 'en';
for (const text of texts) {
  text.hidden = text.lang !== language;
  if (!text.hidden) document.title = text.dataset.title;
}
document.documentElement.lang = language;

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
