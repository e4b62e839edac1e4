import { afterEach, expect, test } from 'vitest';
import { TEXTS } from '../../client/generated/texts';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { productName } from './product';
import { ABOUT, aboutOf } from './senders';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every sender of the gateway has a text, and no other has', () => {
  expect(Object.keys(ABOUT).toSorted()).toEqual(TEXTS.senders.map(({ id }) => id).toSorted());
});

test('a known sender is in the language of the page, and an unknown one as the gateway describes it', () => {
  overwriteGetLocale(() => 'de');
  expect(aboutOf({ id: 'typeform', about: 'Responses to forms' })).toBe('Antworten auf Formulare');
  expect(aboutOf({ id: 'own', about: 'Orders and refunds' })).toBe('Orders and refunds');
  expect(productName({ id: 'schedule', name: 'Schedule' })).toBe('Zeitplan');
  expect(productName({ id: 'codehost_a', name: 'Code host A (GitHub)' })).toBe('GitHub');
});
