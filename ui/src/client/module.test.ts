// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { gatewayResponds, moduleOrNull, watchStyles } from './module';

afterEach(() => vi.unstubAllGlobals());

test('a module that loads is returned, and one that does not load is null', async () => {
  expect(await moduleOrNull(() => Promise.resolve({ value: 1 }))).toEqual({ value: 1 });
  expect(await moduleOrNull(() => Promise.reject(new TypeError('Failed to fetch')))).toBeNull();
});

test('a style sheet that failed is requested again before the next module, and nothing else is', async () => {
  watchStyles();
  document.head.innerHTML =
    '<link rel="stylesheet" href="/a.css"><link rel="stylesheet" href="/b.css"><link rel="icon" href="/i.svg"><script src="/s.js"></script>';
  const [failed, ...others] = [...document.head.children];
  const [loaded, icon, script] = others;
  for (const element of [failed, icon, script]) element?.dispatchEvent(new Event('error'));
  loaded?.dispatchEvent(new Event('load'));

  const load = vi.fn(() => Promise.resolve('module'));
  const again = () => {
    const [next, ...rest] = [...document.head.children];
    expect(rest).toEqual(others);
    expect(next?.getAttribute('href')).toBe('/a.css');
    expect(next).not.toBe(failed);
    return next;
  };
  const refused = moduleOrNull(load);
  again()?.dispatchEvent(new Event('error'));
  expect(await refused).toBeNull();
  expect(load).not.toHaveBeenCalled();
  const came = moduleOrNull(load);
  again()?.dispatchEvent(new Event('load'));
  expect(await came).toBe('module');
  expect(await moduleOrNull(load)).toBe('module');
});

test('the gateway responds unless a proxy answers for it or nothing answers', async () => {
  const fetched = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', fetched);
  fetched.mockResolvedValueOnce(new Response('<svg/>'));
  expect(await gatewayResponds()).toBe(true);
  fetched.mockResolvedValueOnce(new Response('Bad gateway', { status: 502 }));
  expect(await gatewayResponds()).toBe(false);
  fetched.mockRejectedValueOnce(new TypeError('Failed to fetch'));
  expect(await gatewayResponds()).toBe(false);
});
