import { expect, test } from 'vitest';
import { nameOf } from './session';

test('a session without a message has the name of a new conversation, not the label of the gateway', () => {
  expect(nameOf({ key: 'ses_1', label: 'New session' })).toBe('New conversation');
  expect(nameOf({ key: 'ses_1', label: 'Milk' })).toBe('Milk');
});

test('a webhook session whose label is its key is called by its subject', () => {
  expect(nameOf({ key: 'webhook:wh_1:codehost:house/gate:7', label: 'webhook:wh_1:codehost:house/gate:7' })).toContain(
    'house/gate',
  );
  const ofOne = 'webhook:wh_1:del_01a224187f547000';
  expect(nameOf({ key: ofOne, label: ofOne })).toBe('From a webhook');
});
