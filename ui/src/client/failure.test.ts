import { expect, test } from 'vitest';
import { deleted, Failure } from './failure';

test('what is deleted already counts as deleted, and any other refusal does not', async () => {
  await expect(deleted(Promise.resolve({}))).resolves.toBeUndefined();
  await expect(deleted(Promise.reject(new Failure('NOT_FOUND', 'There is no such webhook.')))).resolves.toBeUndefined();
  const refusal = new Failure('CONFLICT', 'The webhook is in use.');
  await expect(deleted(Promise.reject(refusal))).rejects.toBe(refusal);
});
