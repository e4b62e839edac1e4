import { expect, test } from 'vitest';
import { markdownOf } from './exporting';

const NAMES = { you: 'You', agent: 'Reviewer', delivery: 'Delivery', ended: { denied: 'Denied' } };
const message = (role: 'user' | 'assistant' | 'system' | 'tool', content: string, more = {}) => ({
  role,
  origin: 'owner' as const,
  content,
  created_at: '2026-11-21T17:00:00.000Z',
  ...more,
});

test('each message has its author and time; instructions are left out', () => {
  const text = markdownOf(
    'Tea',
    [message('system', 'Be brief.'), message('user', 'Hi'), message('assistant', 'Hello')],
    NAMES,
  );
  expect(text).toBe(
    '# Tea\n\n## You · 2026-11-21T17:00:00.000Z\n\nHi\n\n## Reviewer · 2026-11-21T17:00:00.000Z\n\nHello\n',
  );
});

test('the result of a tool cannot end its code block', () => {
  const call = { id: 'c', name: 'calc', arguments: '{"a":1}' };
  const text = markdownOf(
    'T',
    [message('assistant', '', { tool_calls: [call] }), message('tool', '```\nx', { tool: 'calc' })],
    NAMES,
  );
  expect(text).toContain('**calc**\n\n```\n{"a":1}\n```');
  expect(text).toContain('**calc**\n\n````\n```\nx\n````');
});

test('a tool call that was not made says so', () => {
  const answers = (['ok', 'denied', undefined] as const).map((tool_status) =>
    message('tool', 'x', { tool: 'calc', tool_status }),
  );
  expect(markdownOf('T', answers, NAMES)).toBe(
    '# T\n\n**calc**\n\n```\nx\n```\n\n**calc** · Denied\n\n```\nx\n```\n\n**calc**\n\n```\nx\n```\n',
  );
});
