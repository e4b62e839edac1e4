import { expect, test } from 'vitest';
import { labelsIn } from './revoked';

test('revoked keys and devices have the labels of their events', () => {
  const events = [
    { detail: { api_key: 'key_1', label: 'script', children: 0 } },
    { detail: { device: 'dev_1', label: 'tablet' } },
    { detail: { device: 'dev_2' } },
    { detail: null },
  ];
  expect([...labelsIn(events)]).toEqual([
    ['key_1', 'script'],
    ['dev_1', 'tablet'],
  ]);
});
