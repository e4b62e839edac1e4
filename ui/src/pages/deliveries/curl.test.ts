import { expect, test } from 'vitest';
import { curlOf } from './curl';

test('what the shell would interpret is quoted', () => {
  const text = curlOf('https://gate.example/wh_1', { 'x-event': 'a' }, `{"it's": "$HOME"}`);
  expect(text).toBe(
    `curl -X POST 'https://gate.example/wh_1' \\\n  -H 'x-event: a' \\\n  --data-raw '{"it'\\''s": "$HOME"}'`,
  );
});

test('a body that looks like the name of a file is sent as it is', () => {
  expect(curlOf('https://gatehouse.test/hook', {}, '@/etc/hostname')).toContain("--data-raw '@/etc/hostname'");
});
