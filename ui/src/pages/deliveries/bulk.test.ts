import { expect, test } from 'vitest';
import { Failure } from '../../client/failure';
import {
  failedText,
  foundQuestion,
  listNewest,
  MOST_FOUND,
  questionOf,
  replayableIn,
  replayQuestion,
  runEach,
  targetsOf,
  waitingIn,
} from './bulk';
import type { Status } from './status';

test('a replay of more than one call runs says which part it means', () => {
  expect(replayQuestion(0, 10_000)).toContain('Nothing will be replayed');
  expect(replayQuestion(1, 10_000)).toMatch(/^1 delivery will run again/);
  expect(replayQuestion(10_000, 10_000)).toMatch(/^10,000 deliveries will run again/);
  expect(replayQuestion(10_001, 10_000)).toMatch(/^10,001 deliveries match\. The oldest 10,000 of them will run again/);
});

test('an action applies to the deliveries of its statuses, oldest first, and to unknown ones', () => {
  const known: Record<string, Status> = {
    d: 'queued',
    c: 'processing',
    b: 'completed',
    a: 'failed',
    e: 'filtered',
    f: 'rejected',
  };
  const of = (action: Parameters<typeof targetsOf>[0]) => targetsOf(action, 'fedcba?', (id) => known[id]);
  expect(of('replay')).toEqual(['?', 'a', 'b']);
  expect(of('retry')).toEqual(['?', 'd']);
  expect(of('cancel')).toEqual(['?', 'c', 'd']);
});

test('only waiting deliveries that a filter admits are asked for', () => {
  expect(waitingIn([])).toEqual(['received', 'queued', 'processing']);
  expect(waitingIn(['queued', 'failed'])).toEqual(['queued']);
  expect(waitingIn(['failed'])).toEqual([]);
});

test('of several statuses, those that can be replayed are asked for', () => {
  expect(replayableIn([])).toEqual(['completed', 'failed']);
  expect(replayableIn(['rejected', 'failed', 'queued'])).toEqual(['failed']);
  expect(replayableIn(['rejected'])).toEqual([]);
});

test('a replay of what a search found says whether older ones may match', () => {
  expect(foundQuestion(0, false)).not.toContain('Older');
  expect(foundQuestion(0, true)).toMatch(/^No completed or failed .+ Older deliveries may match, too/);
  expect(foundQuestion(1, false)).toBe(questionOf('replay', 1));
  expect(foundQuestion(MOST_FOUND, true)).toMatch(/^1,000 deliveries will run again.+ Older deliveries may match, too/);
});

/** A gateway with this many deliveries, and its calls. */
function gateway(count: number) {
  const limits: number[] = [];
  const ask = ({ limit, cursor }: { limit: number; cursor: string | null }) => {
    limits.push(limit);
    const from = Number(cursor ?? 0);
    const until = Math.min(count, from + limit);
    const deliveries = Array.from({ length: until - from }, (_, at) => ({
      id: `del_${from + at}`,
      webhook_id: 'wh_1',
      status: 'queued' as const,
    }));
    return Promise.resolve({ deliveries, next_cursor: until < count ? String(until) : null });
  };
  return { ask, limits };
}

test('at most 1,000 deliveries are found', async () => {
  for (const [count, found, more, calls] of [
    [0, 0, false, 1],
    [MOST_FOUND, MOST_FOUND, false, 2],
    [MOST_FOUND + 1, MOST_FOUND, true, 2],
  ] as const) {
    const { ask, limits } = gateway(count);
    const listed = await listNewest(ask);
    expect([listed.found.length, listed.more, limits.length]).toEqual([found, more, calls]);
  }
});

test('a search with empty pages ends', async () => {
  let calls = 0;
  const listed = await listNewest(() => Promise.resolve({ deliveries: [], next_cursor: String(++calls) }));
  expect([listed.found.length, listed.more, calls]).toEqual([0, true, 20]);
});

test('the questions say how many', () => {
  expect(questionOf('retry', 1)).toMatch(/^1 waiting delivery is attempted now/);
  expect(questionOf('retry', 3)).not.toContain('restored backup');
  expect(questionOf('retry', 3, 1)).toMatch(/^3 waiting deliveries .+ 1 of them is held, from a restored backup\./);
  expect(questionOf('cancel', 3, 1)).not.toContain('restored backup');
  expect(questionOf('cancel', 1200)).toMatch(/^1,200 deliveries/);
});

/** Runs a change over `abcd`, which the gateway refuses with these codes. */
async function ran(codes: Record<string, string>, skipped: string[] = []) {
  const [called, ended]: [string[], string[]] = [[], []];
  const change = (id: string) => {
    called.push(id);
    const code = codes[id];
    return code ? Promise.reject(new Failure(code, `${id} was refused.`)) : Promise.resolve();
  };
  const { done, failed, reason } = await runEach([...'abcd'], change, skipped, (id) => ended.push(id));
  return { called: called.join(''), ended: ended.join(''), done, failed: failed.join(''), reason: reason?.message };
}

test('a delivery that fails does not keep the others from being changed', async () => {
  const both = await ran({ b: 'CONFLICT', d: 'INTERNAL' });
  expect(both).toEqual({ called: 'abcd', ended: 'ac', done: 2, failed: 'bd', reason: 'b was refused.' });
  const skipped = await ran({ b: 'CONFLICT' }, ['CONFLICT']);
  expect(skipped).toEqual({ called: 'abcd', ended: 'abcd', done: 3, failed: '', reason: undefined });
});

test('after an error of all calls, the other deliveries count as failed', async () => {
  for (const code of ['OFFLINE', 'VAULT_SEALED']) {
    const { called, ended, done, failed } = await ran({ b: code });
    expect([called, ended, done, failed]).toEqual(['ab', 'a', 1, 'bcd']);
  }
});

test('a bug in the page ends the run', async () => {
  const run = runEach(
    ['a'],
    () => Promise.reject(new TypeError('bug')),
    [],
    () => undefined,
  );
  await expect(run).rejects.toThrow('bug');
});

test('a message names at most three failed deliveries', () => {
  const text = (ids: string) => failedText([...ids], (id) => id.toUpperCase(), 'Down.');
  expect(text('ab')).toBe('Not done, and still selected: A and B. Down.');
  expect(text('abc')).toBe('Not done, and still selected: A, B, and C. Down.');
  expect(text('abcde')).toBe('Not done, and still selected: A, B, C, and 2 more. Down.');
});
