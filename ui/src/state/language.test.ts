import { expect, test } from 'vitest';
import { languageOf } from './language';

test('the first preferred language that has a catalog is shown, and English without one', () => {
  expect(languageOf(['de-AT', 'en'])).toBe('de');
  expect(languageOf(['fr-FR', 'de', 'en-US'])).toBe('de');
  expect(languageOf(['en-GB', 'de'])).toBe('en');
  expect(languageOf(['DE'])).toBe('de');
  expect(languageOf(['fr', 'pt-BR'])).toBe('en');
  expect(languageOf([])).toBe('en');
});
