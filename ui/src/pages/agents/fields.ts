// The form of an agent and its request parameters. Pure functions.
import type { Agent, ToolPolicy } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';
import { numberOf, numeralOf } from '../../parts/numeral';
import { refusal } from '../../parts/submission.svelte';

export interface Fields {
  name: string;
  provider: string;
  model: string;
  system_prompt: string;
  tools: ToolPolicy;
  /** The tools whose calls wait for approval, split by commas or spaces. */
  ask: string;
  persona: string;
  temperature: string;
  max_turns: string;
}

/** Returns the stored fields, or the fields of a new agent if there is none. */
export const fieldsOf = (agent: Agent | undefined): Fields => ({
  name: agent?.name ?? '',
  provider: agent?.provider ?? '',
  model: agent?.model ?? '',
  system_prompt: agent?.system_prompt ?? '',
  tools: { allow: [...(agent?.tools.allow ?? [])], deny: [...(agent?.tools.deny ?? [])] },
  ask: (agent?.require_approval ?? []).join(', '),
  persona: agent?.voice_persona_id ?? '',
  temperature: agent?.temperature == null ? '' : numeralOf(agent.temperature),
  max_turns: agent?.max_turns.toString() ?? '',
});

/** The parameters of a new agent. Throws a refusal if the text of a numeric field is not a number. */
export const creation = (fields: Fields) => ({
  name: fields.name,
  provider: fields.provider || null,
  model: fields.model.trim() || null,
  system_prompt: fields.system_prompt || null,
  tools: fields.tools,
  require_approval: fields.ask.split(/[\s,]+/).filter(Boolean),
  voice_persona_id: fields.persona || null,
  temperature: number('temperature', fields.temperature),
  max_turns: number('max_turns', fields.max_turns),
});

type Input = ReturnType<typeof creation>;

/** The form fields that set a parameter. A model belongs to its provider, so both are sent. */
const SET_BY: Record<keyof Input, readonly (keyof Fields)[]> = {
  name: ['name'],
  provider: ['provider', 'model'],
  model: ['provider', 'model'],
  system_prompt: ['system_prompt'],
  tools: ['tools'],
  require_approval: ['ask'],
  voice_persona_id: ['persona'],
  temperature: ['temperature'],
  max_turns: ['max_turns'],
};

/**
 * Returns the parameters whose fields the user has changed. Another window may have saved the other
 * fields in the meantime.
 */
export function changes(saved: Fields, typed: Fields): Partial<Input> {
  const isChanged = (field: keyof Fields) => JSON.stringify(saved[field]) !== JSON.stringify(typed[field]);
  const names = (Object.keys(SET_BY) as (keyof Input)[]).filter((name) => SET_BY[name].some(isChanged));
  const input = creation(typed);
  return Object.fromEntries(names.map((name) => [name, input[name]]));
}

/** Parses the number of a field; null if it is empty. The gateway checks its bounds. */
function number(field: 'temperature' | 'max_turns', text: string): number | null {
  if (text.trim() === '') return null;
  const value = numberOf(text);
  if (Number.isNaN(value)) throw refusal(field, m.parts_number_needed());
  return value;
}
