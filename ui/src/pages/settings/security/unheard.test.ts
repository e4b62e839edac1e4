import { expect, test } from 'vitest';
import { Unheard } from './unheard';

const item = (id: string, label = 'deploy', used: string | null = null) => ({ id, label, used });

test('a credential without an answer is found by its label, unless it is older, used or of another label', () => {
  const unheard = new Unheard();
  unheard.note('deploy', ['k1']);
  const items = [item('k1'), item('k2'), item('k3', 'backup'), item('k4', 'deploy', '2026-01-01T00:00:00Z')];
  expect(unheard.lostIn(items)).toEqual(['k2']);
  unheard.forget();
  expect(unheard.lostIn(items)).toEqual([]);
});

test('the credentials before the first request without an answer count', () => {
  const unheard = new Unheard();
  unheard.note('deploy', ['k1']);
  unheard.note('deploy', ['k1', 'k2']);
  expect(unheard.lostIn([item('k2')])).toEqual(['k2']);
});

test('nothing is found if the list before was incomplete', () => {
  const unheard = new Unheard();
  unheard.note('deploy', null);
  expect(unheard.isEmpty).toBe(true);
  expect(unheard.lostIn([item('k1')])).toEqual([]);
});
