// A persona as form state. All values are text, so that partial input is kept.
import type { Params } from '../../../client/rpc';
import type { Persona } from '../../../voice/personas';
import { providerOf, type Providers } from './providers';

export const PROMPT = ['profile', 'style', 'accent', 'pacing', 'scene', 'constraints'] as const;
export type PromptField = (typeof PROMPT)[number];
export type Policy = Persona['fallbackPolicy'];

/** The fields of a binding, of which a provider supports some. */
export type BindingField = 'voice_id' | 'model' | 'speed' | 'stability' | 'similarity_boost' | 'pitch';

export interface Binding {
  provider: string;
  values: Partial<Record<BindingField, string>>;
}

export interface Draft {
  label: string;
  description: string;
  provider: string;
  prompt: Record<PromptField, string>;
  bindings: Binding[];
  fallbackPolicy: Policy;
  allowMarkup: boolean;
}

const NUMBERS: readonly BindingField[] = ['speed', 'stability', 'similarity_boost', 'pitch'];
const FIELDS: readonly BindingField[] = ['voice_id', 'model', ...NUMBERS];

export function draftOf(persona: Persona | null): Draft {
  const prompt = {} as Record<PromptField, string>;
  for (const field of PROMPT) prompt[field] = persona?.prompt[field] ?? '';
  return {
    label: persona?.label ?? '',
    description: persona?.description ?? '',
    provider: persona?.provider ?? '',
    prompt,
    bindings: (persona?.providerBindings ?? []).map((binding) => ({
      provider: binding.provider,
      values: Object.fromEntries(
        FIELDS.map((field) => [field, binding[field] ?? (field === 'speed' ? binding.speaking_rate : null)])
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([field, value]) => [field, String(value)]),
      ),
    })),
    fallbackPolicy: persona?.fallbackPolicy ?? 'preserve-persona',
    allowMarkup: persona?.allow_markup ?? false,
  };
}

/**
 * Returns the fields that the provider supports, or all fields while the provider's support is
 * unknown.
 */
export function bindingFields(providers: Providers, id: string): readonly BindingField[] {
  const taken = providerOf(providers, id)?.binding;
  return taken ? FIELDS.filter((field) => taken.includes(field)) : FIELDS;
}

/**
 * Returns the draft as request parameters. A binding includes only fields that its provider
 * supports.
 */
export function fieldsOf(draft: Draft, providers: Providers): Params<'voice.personas.create'> {
  return {
    label: draft.label.trim(),
    description: draft.description.trim() || null,
    provider: draft.provider || null,
    prompt: Object.fromEntries(PROMPT.map((field) => [field, draft.prompt[field].trim() || null])),
    providerBindings: draft.bindings.map(({ provider, values }) => ({
      provider,
      ...Object.fromEntries(
        bindingFields(providers, provider)
          .map((field) => [field, values[field]?.trim() ?? ''] as const)
          .filter(([, text]) => text !== '')
          .map(([field, text]) => [field, NUMBERS.includes(field) ? Number(text) : text]),
      ),
    })),
    fallbackPolicy: draft.fallbackPolicy,
    allow_markup: draft.allowMarkup,
  };
}

/**
 * Returns the parameters that the user has changed, because another window may have saved other
 * parameters since.
 */
export function changesOf(draft: Draft, stored: Draft, providers: Providers): Partial<Params<'voice.personas.create'>> {
  const before: Record<string, unknown> = { ...fieldsOf(stored, providers) };
  const changed = Object.entries(fieldsOf(draft, providers)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed);
}

export const same = (a: Draft, b: Draft, providers: Providers): boolean =>
  JSON.stringify(fieldsOf(a, providers)) === JSON.stringify(fieldsOf(b, providers));
