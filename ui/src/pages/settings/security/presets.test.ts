import { expect, it } from 'vitest';
import { forDevices, presetLabel, presetOf, type Preset } from './presets';

const PRESETS: Preset[] = [
  { id: 'voice', summary: '', scopes: ['operator.read', 'operator.write'], only: ['tts.*', 'stt.*', '/v1/audio/*'] },
  { id: 'metrics', summary: '', scopes: ['operator.read'], only: ['/metrics'] },
];

it('recognizes a preset in any order, and nothing else', () => {
  for (const { id, scopes, only } of PRESETS) {
    expect(presetOf(PRESETS, [...scopes].reverse(), [...only].reverse())?.id).toBe(id);
    expect(presetOf(PRESETS, scopes, only.slice(1))).toBeUndefined();
  }
  expect(presetOf(PRESETS, ['operator.admin'], ['/metrics'])).toBeUndefined();
});

it('offers devices no paths', () => {
  expect(forDevices(PRESETS)).toEqual([{ ...PRESETS[0], only: ['tts.*', 'stt.*'] }]);
});

it('names a preset that this page does not know by its id', () => {
  expect(PRESETS.map(presetLabel)).toEqual(['Voice', 'Metrics']);
  expect(presetLabel({ id: 'new', summary: '', scopes: [], only: [] })).toBe('new');
});
