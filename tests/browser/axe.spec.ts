// `violations` runs only the rules about colors if nothing but a color changed. It must still find what all rules would find.
import { expect, test } from '@playwright/test';
import { violations } from './fixtures/axe';

const page = (style: string, body: string): string =>
  `<!doctype html><html lang="en"><title>Test</title><style>${style}</style><main><h1>Test</h1>${body}</main></html>`;

test('a color of the dark theme only', async ({ page: window }) => {
  await window.setContent(page('body { background: #fff; color: #000 } @media (prefers-color-scheme: dark) { p { color: #eee } }', '<p>Pale</p>'));
  expect(await violations(window)).toEqual([]);
  await window.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(window)).toEqual(['color-contrast: <p>Pale</p>']);
  await window.emulateMedia({ colorScheme: 'light' });
  expect(await violations(window)).toEqual([]);
});

test('a link that only its color tells from the text', async ({ page: window }) => {
  const style = 'body { background: #fff; color: #000 } a { color: #06c; text-decoration: none } @media (prefers-color-scheme: dark) { a { color: #222 } }';
  await window.setContent(page(style, '<p>Some text with <a href="#a">a link</a> in it.</p>'));
  const light = await violations(window);
  await window.emulateMedia({ colorScheme: 'dark' });
  expect(light).toEqual([]);
  expect(await violations(window)).toEqual(['link-in-text-block: <a href="#a">a link</a>']);
});

test('a name that the dark theme hides', async ({ page: window }) => {
  await window.setContent(page('@media (prefers-color-scheme: dark) { button span { display: none } }', '<button><span>Save</span></button>'));
  expect(await violations(window)).toEqual([]);
  await window.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(window)).toEqual(['button-name: <button><span>Save</span></button>']);
});

test('a changed name, and a finding that stays', async ({ page: window }) => {
  await window.setContent(page('', '<button aria-label="Save"></button>'));
  expect(await violations(window)).toEqual([]);
  await window.locator('button').evaluate((one) => one.removeAttribute('aria-label'));
  for (const colorScheme of ['light', 'dark'] as const) {
    await window.emulateMedia({ colorScheme });
    expect(await violations(window)).toEqual(['button-name: <button></button>']);
  }
});
