import { beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '../../../client/failure';
import { rpc } from '../../../client/rpc';
import { KeyTrial } from './key-trial.svelte';

vi.mock('../../../client/rpc', () => ({ rpc: vi.fn() }));

const called = vi.mocked(rpc);
beforeEach(() => void called.mockReset());
const methods = () => called.mock.calls.map(([method]) => method);
const isShown = () => true;

test('a key that works is stored after its test', async () => {
  const trial = new KeyTrial();
  await trial.store('lab', 'sk', isShown);
  expect(called.mock.calls).toEqual([
    ['providers.test', { id: 'lab', key: 'sk' }],
    ['providers.set_key', { id: 'lab', key: 'sk' }],
  ]);
  expect(trial.offers('sk')).toBe(false);
});

test.each(['PROVIDER_FAILED', 'TIMEOUT'])(
  'after %s the key is not stored, and only this key is offered',
  async (code) => {
    called.mockRejectedValueOnce(new Failure(code, 'Why.'));
    const trial = new KeyTrial();
    await expect(trial.store('lab', 'sk', isShown)).rejects.toMatchObject({ message: 'Why. This key was not saved.' });
    expect(methods()).toEqual(['providers.test']);
    expect([trial.offers('sk'), trial.offers('sk2'), trial.offers('')]).toEqual([true, false, false]);
    await trial.keep('lab', 'sk');
    expect(methods()).toEqual(['providers.test', 'providers.set_key']);
    expect(trial.offers('sk')).toBe(false);
  },
);

test('a failure that is not about the key, or arrives after the dialog was closed, offers nothing', async () => {
  const trial = new KeyTrial();
  called.mockRejectedValueOnce(new Failure('INVALID_PARAMS', 'No.'));
  await expect(trial.store('lab', 'sk', isShown)).rejects.toMatchObject({ message: 'No.' });
  expect(trial.offers('sk')).toBe(false);
  called.mockRejectedValueOnce(new Failure('PROVIDER_FAILED', 'No.'));
  await expect(trial.store('lab', 'sk', () => false)).rejects.toThrow();
  expect(trial.offers('sk')).toBe(false);
  expect(methods()).toEqual(['providers.test', 'providers.test']);
});
