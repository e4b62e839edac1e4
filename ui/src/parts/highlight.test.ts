// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { highlight } from './highlight';

function colored(text: string, language: string): HTMLElement {
  const element = document.createElement('code');
  element.textContent = text;
  highlight(element, language);
  return element;
}

it('colors code in the named language, and keeps its text', () => {
  const text = 'const answer = "42"; // <b>\n';
  const element = colored(text, 'ts');
  expect(element.textContent).toBe(text);
  expect(element.querySelector('.hljs-keyword')?.textContent).toBe('const');
  expect(element.querySelector('.hljs-string')?.textContent).toBe('"42"');
  expect(element.querySelector('b')).toBeNull();
});

it('leaves code of an unknown language, and long code, as it is', () => {
  expect(colored('const a = 1', 'klingon').children).toHaveLength(0);
  expect(colored('const a = 1;'.repeat(10_000), 'js').children).toHaveLength(0);
});
