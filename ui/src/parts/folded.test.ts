import { expect, test } from 'vitest';
import { hasWords } from './folded';

test('every word must be in the text, in any order, whatever the accents and the case', () => {
  expect(hasWords('Deploys of Zoë, GitHub', 'github ZOE')).toBe(true);
  expect(hasWords('Deploys of Zoë, GitHub', 'github stripe')).toBe(false);
});

test('an empty search finds everything', () => {
  expect(hasWords('Deploys', '')).toBe(true);
  expect(hasWords('', '  ')).toBe(true);
});
