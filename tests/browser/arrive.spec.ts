// `arrive` ends when nothing is left that could still change the page: no request, and no timer of up to 500 ms.
import { expect, test } from '@playwright/test';
import { arrive } from './fixtures/arrive';

const SCRIPT = `
  const write = (text) => (document.querySelector('p').textContent = text);
  const ask = async () => {
    const text = await (await fetch('/late')).text();
    setTimeout(write, 300, text);
  };
  setTimeout(ask, 500);
  clearTimeout(setTimeout(write, 400, 'never'));
  setTimeout(write, 60_000, 'much later');
`;

test('waits for timers, and for the request that one of them sends', async ({ page }) => {
  const body = `<!doctype html><h1>Test</h1><p>Loading</p><script>${SCRIPT}</script>`;
  await page.route('http://page.test/*', (route) =>
    route.fulfill(new URL(route.request().url()).pathname === '/late' ? { body: 'Late' } : { body, contentType: 'text/html' }),
  );
  await arrive(page, 'http://page.test/', 'Loading');
  expect(await page.getByRole('paragraph').textContent()).toBe('Late');
});
