// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Failure } from '../../client/failure';
import { FormSubmission } from './form-submission.svelte';

const refused = () =>
  new Failure('INVALID_PARAMS', 'Invalid `payload_filter`: condition 2: path: at most 200 characters.', {
    field: 'payload_filter',
    reason: 'condition 2: path: at most 200 characters',
  });

/** A form; `field` is the control that shows the refusal. */
function formWith(field: string): HTMLFormElement {
  document.body.innerHTML = `<form><input name="other" />${field}</form>`;
  return document.querySelector('form') as HTMLFormElement;
}

test('a refusal of a field that the form shows is at the field only', async () => {
  const form = formWith('<input id="path" aria-invalid="true" />');
  const sending = new FormSubmission();
  expect(await sending.run(() => Promise.reject(refused()), form)).toBe(false);
  expect(sending.refused).toEqual({ 'payload_filter.1.path': 'At most 200 characters.' });
  expect(sending.failure).toBeNull();
  expect(document.activeElement?.id).toBe('path');
});

test('a refusal of a field that the form does not show is an error of the whole form', async () => {
  const sending = new FormSubmission();
  const error = refused();
  await sending.run(() => Promise.reject(error), formWith(''));
  expect(sending.refused).toEqual({});
  expect(sending.failure).toBe(error);
});

test('another error does not belong to a field, even if one is marked', async () => {
  const sending = new FormSubmission();
  const error = new Failure('CONFLICT', 'The name is taken.', { field: 'name' });
  await sending.run(() => Promise.reject(error), formWith('<input aria-invalid="true" />'));
  expect(sending.refused).toEqual({});
  expect(sending.failure).toBe(error);
});
