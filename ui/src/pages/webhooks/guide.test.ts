import { expect, it } from 'vitest';
import { parse } from './guide';

it('tells steps from notes, and leaves the curl line out', () => {
  const text = '1. Open it.\n2. URL: {url}\n10. Save.\n\nA note about {secret}.\n\nTo try it: curl -X POST {url}';
  expect(parse(text)).toEqual({
    steps: ['Open it.', 'URL: {url}', 'Save.'],
    notes: ['A note about {secret}.'],
  });
});
