// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { keepFocus } from './focus';

beforeEach(() => {
  document.body.innerHTML = `<main><h1>Usage</h1><section><h2>Budgets</h2><button>Delete</button><button>Other</button></section></main>`;
});
const button = (at: number) => document.querySelectorAll('button')[at];
const focused = () => document.activeElement?.textContent;

test('the heading of the section has the focus after its focused row is deleted', async () => {
  button(0)?.focus();
  const keep = keepFocus();
  button(0)?.remove();
  await keep();
  expect(focused()).toBe('Budgets');
});

test('the heading of the page has it if the section is gone too', async () => {
  button(0)?.focus();
  const keep = keepFocus();
  document.querySelector('section')?.remove();
  await keep();
  expect(focused()).toBe('Usage');
});

test('a focus that the user moved stays', async () => {
  button(0)?.focus();
  const keep = keepFocus();
  button(0)?.remove();
  button(0)?.focus();
  await keep();
  expect(focused()).toBe('Other');
});
