import { describe, expect, it } from 'vitest';
import { merge, textOf, turnsOf, type Message } from './turns';

let next = 0;
const message = (turn_id: string, role: Message['role'], more: Partial<Message> = {}): Message => ({
  id: `msg_${next++}`,
  session: 'ses_1',
  turn_id,
  role,
  origin: role === 'user' ? 'owner' : 'model',
  content: '',
  created_at: '2026-01-01T00:00:00Z',
  ...more,
});
const call = (id: string) => ({ id, name: 'calc', arguments: '{}' });

describe('turns', () => {
  it('bring question, calls with their outputs, and answer together', () => {
    const turns = turnsOf([
      message('a', 'user', { content: 'q' }),
      message('a', 'assistant', { content: 'first', tool_calls: [call('1'), call('2')] }),
      message('a', 'tool', { tool_call_id: '2', content: 'two' }),
      message('a', 'assistant', { tool_calls: [call('1')] }),
      message('a', 'assistant', { content: 'second' }),
    ]);
    const [turn] = turns;
    expect(turns).toHaveLength(1);
    expect(turn?.question?.content).toBe('q');
    const kinds = turn?.parts.map((part) =>
      part.kind === 'call' ? part.call.output?.content : part.kind === 'text' ? part.message.content : part.text,
    );
    expect(kinds).toEqual(['first', undefined, 'two', undefined, 'second']);
    expect(turn?.answered).toBe(true);
    expect(turn?.end).toBe(null);
    expect(turn && textOf(turn)).toBe('first\n\nsecond');
  });

  it('show reasoning before the text it led to, and copy only the text', () => {
    const [turn] = turnsOf([
      message('a', 'user'),
      message('a', 'assistant', { content: 'answer', reasoning: 'thought' }),
    ]);
    expect(turn?.parts.map((part) => part.kind)).toEqual(['reasoning', 'text']);
    expect(turn && textOf(turn)).toBe('answer');
  });

  it('give an id that is used again its own output', () => {
    const [turn] = turnsOf([
      message('a', 'user'),
      message('a', 'assistant', { tool_calls: [call('1')] }),
      message('a', 'tool', { tool_call_id: '1', content: 'x' }),
      message('a', 'assistant', { tool_calls: [call('1')] }),
      message('a', 'tool', { tool_call_id: '1', content: 'y' }),
    ]);
    const outputs = turn?.parts.map((part) => part.kind === 'call' && part.call.output?.content);
    expect(outputs).toEqual(['x', 'y']);
    expect(turn?.answered).toBe(false);
  });

  it('stay together when a later question was stored in between, and are kept when nothing came', () => {
    const messages = [message('a', 'user'), message('b', 'user')];
    const before = turnsOf(messages);
    const after = turnsOf([...messages, message('a', 'assistant', { content: 'x' })], before);
    expect(after.map((turn) => turn.id)).toEqual(['a', 'b']);
    expect(after[0]?.answered).toBe(true);
    expect(after[1]).toBe(before[1]);
    expect(after[0]).not.toBe(before[0]);
    const spoken = messages.map((one) => ({ ...one, audio: 'aud_1' }));
    expect(turnsOf(spoken, after)[1]).not.toBe(after[1]);
  });

  it('change with any of their messages: the speech before a tool call is recorded after the next message', () => {
    const [question, first, output] = [
      message('a', 'user'),
      message('a', 'assistant', { content: 'Let me see.', tool_calls: [call('1')] }),
      message('a', 'tool', { tool_call_id: '1' }),
    ];
    const before = turnsOf([question, first, output]);
    const after = turnsOf([question, { ...first, audio: 'aud_1' }, output], before);
    expect(after[0]?.parts.map((part) => part.kind === 'text' && part.message.audio)).toEqual(['aud_1', false]);
  });
});

describe('a page loaded anew', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => message(id, 'user', { id })) as [
    Message,
    Message,
    Message,
    Message,
  ];

  it('keeps what is older and what came meanwhile', () => {
    expect(merge([a, b, d], [b, c], new Set(['d']))).toEqual({ messages: [a, b, c, d], keepsOlder: true });
  });

  it('drops what is older when there is a gap, and what is no longer there', () => {
    expect(merge([a], [c, d], new Set())).toEqual({ messages: [c, d], keepsOlder: false });
    expect(merge([a, b], [a], new Set())).toEqual({ messages: [a], keepsOlder: false });
  });
});
