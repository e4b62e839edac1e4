import { expect, test, vi } from 'vitest';
import type { Persona } from '../../../voice/personas';
import type { Provider } from './providers';

// The messages exist only in a page build.
vi.mock('../../../paraglide/messages.js', () => ({ m: {} }));
const { changesOf, draftOf, fieldsOf, same } = await import('./draft');

const PROVIDERS: Provider[] = [
  {
    id: 'tts_cloud_3',
    name: 'Google Cloud',
    configured: true,
    hidden: false,
    about: '',
    needs: 'api_key',
    settings: [],
    binding: ['voice_id', 'speed', 'pitch'],
    speeds: [0.25, 2],
  },
];

const PERSONA: Persona = {
  id: 'narrator',
  label: 'Narrator',
  description: '',
  provider: 'tts_cloud_3',
  prompt: { profile: 'An old sailor', style: '', accent: '', pacing: 'slow', scene: '', constraints: '' },
  providerBindings: [
    {
      provider: 'tts_cloud_3',
      voice_id: 'en-GB-Neural2-B',
      model: null,
      speed: 0.9,
      stability: null,
      similarity_boost: null,
      pitch: -2,
    },
  ],
  fallbackPolicy: 'fail',
  allow_markup: true,
  active: true,
  created_at: '2026-11-01T00:00:00Z',
  updated_at: '2026-11-01T00:00:00Z',
};

test('a persona goes through the form and comes out as it was', () => {
  expect(fieldsOf(draftOf(PERSONA), PROVIDERS)).toEqual({
    label: 'Narrator',
    description: null,
    provider: 'tts_cloud_3',
    prompt: { profile: 'An old sailor', style: null, accent: null, pacing: 'slow', scene: null, constraints: null },
    providerBindings: [{ provider: 'tts_cloud_3', voice_id: 'en-GB-Neural2-B', speed: 0.9, pitch: -2 }],
    fallbackPolicy: 'fail',
    allow_markup: true,
  });
});

test('what was emptied is cleared, and blanks are no change', () => {
  const draft = draftOf(PERSONA);
  draft.prompt.pacing = '  ';
  draft.bindings[0]!.values.pitch = '';
  expect(fieldsOf(draft, PROVIDERS).prompt?.pacing).toBeNull();
  expect(fieldsOf(draft, PROVIDERS).providerBindings?.[0]).not.toHaveProperty('pitch');
  expect(same(draft, draftOf(PERSONA), PROVIDERS)).toBe(false);
  const blanks = draftOf(PERSONA);
  blanks.label = ' Narrator ';
  expect(same(blanks, draftOf(PERSONA), PROVIDERS)).toBe(true);
});

test('only what the user changed of a persona is sent', () => {
  const stored = draftOf(PERSONA);
  expect(changesOf(draftOf(PERSONA), stored, PROVIDERS)).toEqual({});
  expect(changesOf({ ...stored, label: 'Speaker' }, stored, PROVIDERS)).toEqual({ label: 'Speaker' });
  expect(changesOf({ ...stored, bindings: [] }, stored, PROVIDERS)).toEqual({ providerBindings: [] });
});
