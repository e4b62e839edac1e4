import { beforeEach, expect, test } from 'vitest';
import { Failure } from '../client/failure';
import { toasts } from '../state/toasts.svelte';
import { refusal, Submission } from './submission.svelte';

beforeEach(() => void toasts.splice(0));

const taken = () => new Failure('CONFLICT', 'The name is taken.');

/** A call that the test answers. */
function held() {
  let answer: (() => void) | undefined;
  let refuse: ((error: unknown) => void) | undefined;
  const work = new Promise<void>((resolve, reject) => ([answer, refuse] = [resolve, reject]));
  return { work, answer: () => answer?.(), refuse: (error: unknown) => refuse?.(error) };
}

test('a failure is shown in the dialog that sent the action', async () => {
  const submission = new Submission();
  expect(await submission.run(() => Promise.reject(taken()))).toBe(false);
  expect(submission.words).toBe('The name is taken.');
  expect(submission.busy).toBe(false);
  expect(toasts).toEqual([]);
});

test('a failure of an action without an error note is one toast', async () => {
  const submission = new Submission();
  expect(await submission.runWithToast(() => Promise.reject(taken()))).toBe(false);
  expect(toasts.map(({ kind, text }) => [kind, text])).toEqual([['bad', 'The name is taken.']]);
  expect(submission.failure).toBeNull();
  expect(await submission.runWithToast(() => Promise.resolve())).toBe(true);
  expect(toasts).toHaveLength(1);
});

test('a second press while an action runs does nothing', async () => {
  const submission = new Submission();
  const first = held();
  const running = submission.runWithToast(() => first.work);
  let runs = 0;
  expect(await submission.runWithToast(async () => runs++)).toBe(false);
  expect(runs).toBe(0);
  expect(submission.busy).toBe(true);
  first.refuse(taken());
  expect(await running).toBe(false);
  expect(toasts.map(({ text }) => text)).toEqual(['The name is taken.']);
});

test('only the pressed one of several buttons is busy', async () => {
  const submission = new Submission();
  const first = held();
  const running = submission.run(() => first.work, undefined, 'save');
  expect(await submission.runWithToast(() => Promise.resolve(), 'listen')).toBe(false);
  expect([submission.busy, submission.runs('save'), submission.runs('listen')]).toEqual([true, true, false]);
  first.answer();
  await running;
  expect([submission.busy, submission.runs('save')]).toEqual([false, false]);
  const second = held();
  const listening = submission.runWithToast(() => second.work, 'listen');
  expect([submission.runs('save'), submission.runs('listen')]).toEqual([false, true]);
  second.answer();
  expect(await listening).toBe(true);
});

test('a failure that arrives after its dialog was closed is a toast, and not in the next dialog', async () => {
  const submission = new Submission();
  const first = held();
  const late = submission.run(() => first.work);
  submission.leave();
  expect(submission.busy).toBe(false);
  const second = held();
  const next = submission.run(() => second.work);
  first.refuse(taken());
  expect(await late).toBe(false);
  expect(toasts.map(({ kind, text }) => [kind, text])).toEqual([['bad', 'The name is taken.']]);
  expect(submission.words).toBeNull();
  expect(submission.busy).toBe(true);
  second.answer();
  expect(await next).toBe(true);
  expect(submission.busy).toBe(false);
});

test('a success that arrives after its dialog was closed does not close the next one', async () => {
  const submission = new Submission();
  const first = held();
  const closes: boolean[] = [];
  const late = submission.run(async (isShown) => {
    await first.work;
    closes.push(isShown());
  });
  submission.leave();
  await submission.run(async (isShown) => closes.push(isShown()));
  first.answer();
  expect(await late).toBe(true);
  expect(closes).toEqual([true, false]);
  expect(toasts).toEqual([]);
});

test('an error that does not come from the gateway has the text of its component', async () => {
  const submission = new Submission((error) => (error instanceof DOMException ? 'The passkey was refused.' : null));
  await submission.run(() => Promise.reject(new DOMException('', 'NotAllowedError')));
  expect(submission.words).toBe('The passkey was refused.');
});

test('a refusal that arrives after its dialog was closed names its record and field', async () => {
  let name = 'Groq';
  const submission = new Submission(undefined, () => name);
  const first = held();
  const late = submission.run(() => first.work);
  submission.leave();
  name = 'OpenAI';
  first.refuse(refusal('expires_at', 'must be in the future'));
  await late;
  expect(toasts.map(({ text }) => text)).toEqual(['Groq: Expires at: must be in the future.']);
});

test('a refusal at a field has the reason alone, as a sentence', async () => {
  const form = { elements: { namedItem: () => ({}) }, querySelector: () => null } as unknown as HTMLFormElement;
  const submission = new Submission();
  await submission.run(() => Promise.reject(refusal('expires_at', 'must be in the future')), form);
  expect(submission.refused).toEqual({ expires_at: 'Must be in the future.' });
});

test('a reason that is a sentence is the whole message', () => {
  expect(refusal('name', 'Enter a name.').message).toBe('Enter a name.');
  expect(refusal('name', 'Enter a name. (It is shown in the list.)').message).toBe(
    'Enter a name. (It is shown in the list.)',
  );
  expect(refusal('name', 'must not be empty').message).toBe('Name: must not be empty.');
});
