import { expect, test } from 'vitest';
import { answer, askConfirmation, asked, askUnlock, dropQuestions } from './ask.svelte';

test('an answer after the dialog was closed settles nothing, and the next question is asked', async () => {
  const first = askConfirmation();
  expect(answer('confirmation', false)).toBe(true);
  await expect(first).resolves.toBe(false);
  // The gateway confirms only now.
  expect(answer('confirmation', true)).toBe(false);

  const second = askConfirmation();
  expect(asked.confirmation).not.toBeNull();
  expect(answer('confirmation', true)).toBe(true);
  await expect(second).resolves.toBe(true);
});

test('the questions of a session that ended are answered with no, and not asked after the login', async () => {
  const confirmed = [askConfirmation(), askConfirmation()];
  const unlocked = askUnlock();
  dropQuestions();
  expect(await Promise.all([...confirmed, unlocked])).toEqual([false, false, false]);
  expect(asked).toEqual({ confirmation: null, unlock: null });
  // The gateway confirms only now.
  expect(answer('confirmation', true)).toBe(false);
});
