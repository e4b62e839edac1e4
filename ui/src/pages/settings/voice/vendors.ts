// The speech and transcription vendors with their settings. The IDs are the gateway's.
import { m } from '../../../paraglide/messages.js';

export type Role = 'tts' | 'stt';

export interface VendorSetting {
  /** The last segment of the setting's key. */
  name: string;
  label: () => string;
  hint?: () => string;
  kind: 'text' | 'number' | 'flag' | 'address' | 'file';
  example?: string;
  min?: number;
  max?: number;
  step?: number;
}

/** The fields that a persona's binding can set at this vendor. */
export type BindingField = 'voice_id' | 'model' | 'speed' | 'stability' | 'similarity_boost' | 'pitch';

export interface Vendor {
  id: string;
  about: () => string;
  /** The vendor needs a stored API key. */
  key: boolean;
  /** What is missing until the vendor is configured. */
  missing: () => string;
  settings: readonly VendorSetting[];
  binding?: readonly BindingField[];
  /** The minimum and maximum speed. */
  speeds?: readonly [number, number];
}

const text = (name: string, label: () => string, example: string): VendorSetting => ({
  name,
  label,
  kind: 'text',
  example,
});
const model = (example: string) => text('model', m.voice_set_model, example);
const language = (example = 'en'): VendorSetting => ({
  ...text('language', m.voice_set_language, example),
  hint: m.voice_set_language_hint,
});
const baseUrl = (example: string): VendorSetting => ({
  name: 'base_url',
  label: m.voice_set_base_url,
  hint: m.voice_set_base_url_hint,
  kind: 'address',
  example,
});
const endpoint = (example: string): VendorSetting => ({
  name: 'endpoint',
  label: m.voice_set_endpoint,
  kind: 'address',
  example,
});
const file = (name: string, label: () => string, example: string, hint?: () => string): VendorSetting => ({
  name,
  label,
  kind: 'file',
  example,
  ...(hint ? { hint } : {}),
});
const program = (example: string) =>
  file('binary_path', m.voice_set_binary_path, example, m.voice_set_binary_path_hint);
const share = (name: string, label: () => string, hint: () => string): VendorSetting => ({
  name,
  label,
  hint,
  kind: 'number',
  min: 0,
  max: 1,
  step: 0.05,
});
const speed = (name: string): VendorSetting => ({
  name,
  label: m.voice_set_speed,
  hint: m.voice_set_speed_hint,
  kind: 'number',
  min: 0.25,
  max: 4,
  step: 0.05,
});

const SPEAKERS: readonly Vendor[] = [
  {
    id: 'tts_cloud_1',
    about: m.voice_about_elevenlabs,
    key: true,
    missing: m.voice_missing_key,
    settings: [
      text('voice_id', m.voice_set_voice_id, '21m00Tcm4TlvDq8ikWAM'),
      model('eleven_multilingual_v2'),
      share('stability', m.voice_set_stability, m.voice_set_stability_hint),
      share('similarity_boost', m.voice_set_similarity, m.voice_set_similarity_hint),
      baseUrl('https://api.elevenlabs.io/v1'),
    ],
    binding: ['voice_id', 'model', 'speed', 'stability', 'similarity_boost'],
    speeds: [0.7, 1.2],
  },
  {
    id: 'tts_cloud_2',
    about: m.voice_about_openai_tts,
    key: true,
    missing: m.voice_missing_key_openai,
    settings: [
      text('voice', m.voice_set_voice, 'alloy'),
      model('gpt-4o-mini-tts'),
      speed('speed'),
      baseUrl('https://api.openai.com/v1'),
    ],
    binding: ['voice_id', 'model', 'speed'],
    speeds: [0.25, 4],
  },
  {
    id: 'tts_cloud_3',
    about: m.voice_about_google_tts,
    key: true,
    missing: m.voice_missing_key,
    settings: [
      text('voice', m.voice_set_voice, 'en-US-Neural2-C'),
      text('language_code', m.voice_set_locale, 'en-US'),
      speed('speaking_rate'),
      baseUrl('https://texttospeech.googleapis.com/v1'),
    ],
    binding: ['voice_id', 'speed', 'pitch'],
    speeds: [0.25, 2],
  },
  {
    id: 'tts_local_1',
    about: m.voice_about_piper,
    key: false,
    missing: m.voice_missing_voice_file,
    settings: [
      file('model_path', m.voice_set_voice_file, 'voices/en_US-lessac-medium.onnx'),
      file(
        'config_path',
        m.voice_set_voice_config,
        'voices/en_US-lessac-medium.onnx.json',
        m.voice_set_voice_config_hint,
      ),
      program('piper'),
      { name: 'speaker_id', label: m.voice_set_speaker, kind: 'number', min: 0, step: 1 },
      {
        name: 'length_scale',
        label: m.voice_set_length_scale,
        hint: m.voice_set_length_scale_hint,
        kind: 'number',
        min: 0.1,
        max: 10,
        step: 0.05,
      },
    ],
    binding: ['speed'],
    speeds: [0.25, 4],
  },
  {
    id: 'tts_local_2',
    about: m.voice_about_coqui,
    key: false,
    missing: m.voice_missing_address,
    settings: [endpoint('http://127.0.0.1:5002'), model('tts_models/en/ljspeech/vits')],
    binding: ['voice_id', 'model'],
  },
];

const LISTENERS: readonly Vendor[] = [
  {
    id: 'stt_cloud_1',
    about: m.voice_about_openai_stt,
    key: true,
    missing: m.voice_missing_key_openai,
    settings: [model('whisper-1'), language(), baseUrl('https://api.openai.com/v1')],
  },
  {
    id: 'stt_cloud_2',
    about: m.voice_about_groq,
    key: true,
    missing: m.voice_missing_key,
    settings: [model('whisper-large-v3-turbo'), language(), baseUrl('https://api.groq.com/openai/v1')],
  },
  {
    id: 'stt_cloud_3',
    about: m.voice_about_deepgram,
    key: true,
    missing: m.voice_missing_key,
    settings: [
      model('nova-3'),
      language(),
      { name: 'smart_format', label: m.voice_set_smart_format, hint: m.voice_set_smart_format_hint, kind: 'flag' },
      baseUrl('https://api.deepgram.com/v1'),
    ],
  },
  {
    id: 'stt_cloud_4',
    about: m.voice_about_google_stt,
    key: true,
    missing: m.voice_missing_key,
    settings: [
      text('language', m.voice_set_locale, 'en-US'),
      model('latest_long'),
      baseUrl('https://speech.googleapis.com/v1'),
    ],
  },
  {
    id: 'stt_cloud_5',
    about: m.voice_about_mistral,
    key: true,
    missing: m.voice_missing_key,
    settings: [model('voxtral-mini-latest'), language(), baseUrl('https://api.mistral.ai/v1')],
  },
  {
    id: 'stt_local_1',
    about: m.voice_about_voxtral,
    key: false,
    missing: m.voice_missing_address,
    settings: [endpoint('http://127.0.0.1:8000/v1'), model('mistralai/Voxtral-Mini-3B-2507'), language()],
  },
  {
    id: 'stt_local_2',
    about: m.voice_about_whisper_cli,
    key: false,
    missing: m.voice_missing_model_file,
    settings: [file('model_path', m.voice_set_model_file, 'models/ggml-base.bin'), program('whisper-cli'), language()],
  },
  {
    id: 'stt_local_3',
    about: m.voice_about_sherpa,
    key: false,
    missing: m.voice_missing_model_folder,
    settings: [
      file('model_dir', m.voice_set_model_folder, 'models/sherpa-onnx-whisper-base'),
      program('sherpa-onnx-offline'),
      language(),
    ],
  },
];

export const vendors = (role: Role): readonly Vendor[] => (role === 'tts' ? SPEAKERS : LISTENERS);
export const vendor = (id: string): Vendor | undefined => [...SPEAKERS, ...LISTENERS].find((one) => one.id === id);
