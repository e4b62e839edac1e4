import { expect, test } from 'vitest';
import type { Agent } from '../../client/generated/rpc';
import { Failure } from '../../client/failure';
import { changes, creation, fieldsOf } from './fields';

const agent = {
  id: 'triage',
  name: 'Triage',
  provider: 'openai',
  model: 'gpt',
  system_prompt: 'Sort.',
  tools: { allow: ['calc'], deny: [] },
  require_approval: ['web_fetch', 'speak'],
  temperature: 0.5,
  max_turns: 12,
} as unknown as Agent;
const saved = fieldsOf(agent);

test('a form that was not changed sends nothing', () => {
  expect(changes(saved, fieldsOf(structuredClone(agent)))).toEqual({});
});

test('only what the user changed is sent', () => {
  expect(changes(saved, { ...saved, name: 'Sorting' })).toEqual({ name: 'Sorting' });
  expect(changes(saved, { ...saved, tools: { allow: [], deny: ['*'] } })).toEqual({
    tools: { allow: [], deny: ['*'] },
  });
  expect(changes(saved, { ...saved, ask: 'web_fetch' })).toEqual({ require_approval: ['web_fetch'] });
});

test('a cleared field is sent as null', () => {
  expect(changes(saved, { ...saved, system_prompt: '', temperature: ' ' })).toEqual({
    system_prompt: null,
    temperature: null,
  });
});

test('a model is sent with its provider', () => {
  expect(changes(saved, { ...saved, model: 'gpt-mini' })).toEqual({ provider: 'openai', model: 'gpt-mini' });
  expect(changes(saved, { ...saved, provider: '' })).toEqual({ provider: null, model: 'gpt' });
});

test('a new agent has all fields', () => {
  const { id: _, ...rest } = agent;
  expect(creation(saved)).toEqual({ ...rest, voice_persona_id: null });
  expect(creation({ ...fieldsOf(undefined), name: 'New' })).toEqual({
    name: 'New',
    provider: null,
    model: null,
    system_prompt: null,
    tools: { allow: [], deny: [] },
    require_approval: [],
    voice_persona_id: null,
    temperature: null,
    max_turns: null,
  });
});

test('a number that cannot be read is refused at its field', () => {
  const refused = () => changes(saved, { ...saved, max_turns: 'many' });
  expect(refused).toThrow(Failure);
  expect(refused).toThrow(expect.objectContaining({ details: expect.objectContaining({ field: 'max_turns' }) }));
});
