import { beforeEach, expect, test } from 'vitest';
import { Failure } from '../client/failure';
import { toasts } from '../state/toasts.svelte';
import { Submission } from './submission.svelte';

beforeEach(() => void toasts.splice(0));

test('an error that arrives after its dialog was closed is shown beside the page', async () => {
  const submission = new Submission();
  await submission.run(() => Promise.reject(new Failure('CONFLICT', 'The name is taken.')));
  submission.toastFailure();
  expect(toasts.map(({ kind, text }) => [kind, text])).toEqual([['bad', 'The name is taken.']]);
});

test('success shows no error', async () => {
  const submission = new Submission();
  await submission.run(() => Promise.resolve());
  submission.toastFailure();
  expect(toasts).toEqual([]);
});

test('after `leave`, a late error is a toast, and the next opening is neither busy nor refused', async () => {
  const submission = new Submission();
  let fail = (_: Error) => {};
  const late = submission.run((stays) =>
    new Promise((_, reject) => (fail = reject)).finally(() => expect(stays()).toBe(false)),
  );
  expect(submission.busy).toBe(true);
  submission.leave();
  expect(submission.busy).toBe(false);
  let finish = () => {};
  const next = submission.run(() => new Promise<void>((resolve) => (finish = resolve)));
  fail(new Failure('CONFLICT', 'The name is taken.'));
  expect(await late).toBe(false);
  expect(toasts.map(({ kind, text }) => [kind, text])).toEqual([['bad', 'The name is taken.']]);
  expect(submission.failure).toBe(null);
  expect(submission.busy, 'the late answer does not end the next call').toBe(true);
  finish();
  expect(await next).toBe(true);
  expect(submission.busy).toBe(false);
});

test('work of the current opening learns that its dialog is open', async () => {
  const submission = new Submission();
  submission.leave();
  const open: boolean[] = [];
  await submission.run(async (stays) => open.push(stays()));
  expect(open).toEqual([true]);
});
