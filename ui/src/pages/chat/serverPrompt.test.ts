import { expect, test } from 'vitest';
import { draftWith, given, hintOf } from './serverPrompt';

test('a hint names the server', () => {
  const prompt = { server: 'files', name: 'review', arguments: [] };
  expect(hintOf(prompt)).toBe('files');
  expect(hintOf({ ...prompt, description: 'Asks.' })).toBe('files: Asks.');
});

test('empty values are not sent', () => {
  expect(given({ code: 'x ', style: ' ' })).toEqual({ code: 'x ' });
});

test('what was typed meanwhile stays', () => {
  expect(draftWith('Review.', ' ')).toBe('Review.');
  expect(draftWith('Review.', 'And this')).toBe('Review.\n\nAnd this');
});
