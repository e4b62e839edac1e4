import { expect, it } from 'vitest';
import { DEVICE_PRESETS, PRESETS, presetOf } from './presets';

it('recognizes a preset in any order, and nothing else', () => {
  for (const { id, scopes, only } of PRESETS) {
    expect(presetOf(PRESETS, [...scopes].reverse(), [...only].reverse())?.id).toBe(id);
    expect(presetOf(PRESETS, scopes, only.slice(1))).toBeUndefined();
  }
  expect(presetOf(PRESETS, ['operator.admin'], ['/metrics'])).toBeUndefined();
});

it('offers devices no paths', () => {
  expect(DEVICE_PRESETS.map(({ id }) => id)).toEqual(['voice', 'chat', 'webhooks']);
  expect(DEVICE_PRESETS.flatMap(({ only }) => only).filter((pattern) => pattern.includes('/'))).toEqual([]);
});
