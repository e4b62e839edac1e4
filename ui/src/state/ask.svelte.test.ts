import { expect, test } from 'vitest';
import { answer, askConfirmation, asked } from './ask.svelte';

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
