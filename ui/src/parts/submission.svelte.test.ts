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
