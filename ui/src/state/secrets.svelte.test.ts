import { beforeEach, expect, test, vi } from 'vitest';

/** The listeners that the module added to the window. */
const listeners = new Map<string, (event: BeforeUnloadEvent) => void>();
vi.stubGlobal('addEventListener', (type: string, listener: (event: BeforeUnloadEvent) => void) =>
  listeners.set(type, listener),
);
vi.stubGlobal('removeEventListener', (type: string) => listeners.delete(type));
const session = { face: 'inside' };
vi.mock('./session.svelte', () => ({ session }));
const { dropSecret, secrets, showSecret } = await import('./secrets.svelte');

const key = (secret: string) => ({ secret, title: 'Your new API key', text: '', label: 'API key', action: 'Done' });

/** Whether the browser asks before it leaves the page. */
function asks(): boolean {
  let asked = false;
  const event = { preventDefault: () => void (asked = true) } as BeforeUnloadEvent;
  listeners.get('beforeunload')?.(event);
  return asked;
}

beforeEach(() => {
  session.face = 'inside';
  for (const one of [...secrets]) dropSecret(one);
});

test('of two secrets each waits until the previous one is confirmed', () => {
  showSecret(key('mk_1'));
  showSecret(key('mk_2'));
  expect(secrets.map(({ secret }) => secret)).toEqual(['mk_1', 'mk_2']);
  const [first] = secrets;
  if (first) dropSecret(first);
  expect(secrets.map(({ secret }) => secret)).toEqual(['mk_2']);
});

test('a recovery key replaces the one that it ends, and no other secret', () => {
  showSecret({ ...key('old'), kind: 'recovery key' });
  showSecret(key('mk_1'));
  showSecret({ ...key('new'), kind: 'recovery key' });
  expect(secrets.map(({ secret }) => secret)).toEqual(['mk_1', 'new']);
});

test('a secret that is closed while a newer one replaces it leaves the newer one', () => {
  showSecret({ ...key('old'), kind: 'recovery key' });
  const [closed] = secrets;
  showSecret({ ...key('new'), kind: 'recovery key' });
  if (closed) dropSecret(closed);
  expect(secrets.map(({ secret }) => secret)).toEqual(['new']);
});

test('the browser asks before it leaves the page while a secret is not confirmed', () => {
  expect(asks()).toBe(false);
  showSecret(key('mk_1'));
  expect(asks()).toBe(true);
  for (const one of secrets) one.stored = true;
  expect(asks()).toBe(false);
  showSecret(key('mk_2'));
  expect(asks()).toBe(true);
  for (const one of [...secrets]) dropSecret(one);
  expect(asks()).toBe(false);
  expect(listeners.has('beforeunload')).toBe(false);
});

test('a secret waits behind the login, and a logout is not asked about', () => {
  showSecret(key('mk_1'));
  session.face = 'login';
  expect(asks()).toBe(true);
  session.face = 'starting';
  expect(asks()).toBe(false);
});
