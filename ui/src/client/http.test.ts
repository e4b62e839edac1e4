import { expect, test, vi } from 'vitest';
import { beginSession, setHooks } from './hooks';
import { http } from './http';

let ended = 0;
setHooks({ sessionEnded: () => void ended++ });

/** Sends a password to a gateway that refuses it with `code`, and returns whether the session counts as ended. */
async function isEndedBy(code: string, keep: boolean): Promise<boolean> {
  ended = 0;
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ code, error: 'Refused.' }, { status: 401 })));
  const body = { password: 'x', challenge_id: null, credential: null };
  await expect(http('post', '/api/auth/confirm', { body, keep })).rejects.toThrow();
  return ended > 0;
}

test('a wrong password does not end the session', async () => {
  expect(await isEndedBy('INVALID_CREDENTIALS', true)).toBe(false);
});

test('a session that expired has ended, also if the request expects a wrong password', async () => {
  expect(await isEndedBy('AUTH_NOT_AUTHENTICATED', true)).toBe(true);
  expect(await isEndedBy('AUTH_NOT_AUTHENTICATED', false)).toBe(true);
});

test('a refusal that arrives after the next login does not end the new session', async () => {
  ended = 0;
  let answer = (_: Response) => {};
  const fetched = vi.fn(() => new Promise<Response>((resolve) => (answer = resolve)));
  vi.stubGlobal('fetch', fetched);
  const late = http('get', '/api/auth/api-keys');
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled());
  beginSession();
  answer(Response.json({ code: 'AUTH_NOT_AUTHENTICATED', error: 'Refused.' }, { status: 401 }));
  await expect(late).rejects.toThrow();
  expect(ended).toBe(0);
});
