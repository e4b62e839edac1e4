// Texts for the voice providers and their settings, by ID. An unknown one has the gateway's text.
import type { ProviderSetting } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';

const ABOUT: Record<string, () => string> = {
  stt_cloud_1: m.voice_about_stt_cloud_1,
  stt_cloud_2: m.voice_about_stt_cloud_2,
  stt_cloud_3: m.voice_about_stt_cloud_3,
  stt_cloud_4: m.voice_about_stt_cloud_4,
  stt_cloud_5: m.voice_about_stt_cloud_5,
  stt_local_1: m.voice_about_stt_local_1,
  stt_local_2: m.voice_about_stt_local_2,
  stt_local_3: m.voice_about_stt_local_3,
  tts_cloud_1: m.voice_about_tts_cloud_1,
  tts_cloud_2: m.voice_about_tts_cloud_2,
  tts_cloud_3: m.voice_about_tts_cloud_3,
  tts_local_1: m.voice_about_tts_local_1,
  tts_local_2: m.voice_about_tts_local_2,
};

/** The names that are not the same in every language. */
const NAMES: Record<string, () => string> = {
  stt_local_1: m.voice_name_stt_local_1,
  tts_local_2: m.voice_name_tts_local_2,
};

/** Labels of the settings, by provider and name where a name has two meanings. */
const LABELS: Record<string, () => string> = {
  base_url: m.voice_setting_base_url,
  binary_path: m.voice_setting_binary_path,
  config_path: m.voice_setting_config_path,
  endpoint: m.voice_setting_endpoint,
  fit_audio_context: m.voice_setting_fit_audio_context,
  language: m.voice_setting_language,
  language_code: m.voice_setting_language_code,
  length_scale: m.voice_setting_length_scale,
  model: m.voice_setting_model,
  model_dir: m.voice_setting_model_dir,
  similarity_boost: m.voice_setting_similarity_boost,
  smart_format: m.voice_setting_smart_format,
  speaker_id: m.voice_setting_speaker_id,
  speaking_rate: m.voice_setting_speaking_rate,
  speed: m.voice_setting_speaking_rate,
  stability: m.voice_setting_stability,
  'stt_cloud_4.language': m.voice_setting_language_code,
  'stt_local_2.model_path': m.voice_setting_stt_local_2_model_path,
  'tts_local_1.model_path': m.voice_setting_tts_local_1_model_path,
  voice: m.voice_setting_voice,
  voice_id: m.voice_setting_voice_id,
};

/** Texts below the settings. */
const HINTS: Record<string, () => string> = {
  base_url: m.voice_setting_hint_base_url,
  binary_path: m.voice_setting_hint_binary_path,
  config_path: m.voice_setting_hint_config_path,
  endpoint: m.voice_setting_hint_endpoint,
  fit_audio_context: m.voice_setting_hint_fit_audio_context,
  language: m.voice_setting_hint_language,
  length_scale: m.voice_setting_hint_length_scale,
  similarity_boost: m.voice_setting_hint_similarity_boost,
  smart_format: m.voice_setting_hint_smart_format,
  speaking_rate: m.voice_setting_hint_speed,
  speed: m.voice_setting_hint_speed,
  stability: m.voice_setting_hint_stability,
  'tts_local_2.model': m.voice_setting_hint_tts_local_2_model,
};

interface Described {
  id: string;
  name: string;
  about: string;
  settings: readonly ProviderSetting[];
}

/** The page's text for a provider; undefined for an unknown one. */
export const aboutOf = (id: string): string | undefined => ABOUT[id]?.();

/** The page's texts for a setting of a provider; undefined for an unknown one. */
export const labelOf = (id: string, name: string): string | undefined => (LABELS[`${id}.${name}`] ?? LABELS[name])?.();
export const hintOf = (id: string, name: string): string | undefined => (HINTS[`${id}.${name}`] ?? HINTS[name])?.();

/** A provider with the page's texts. A setting without a hint has none here either. */
export const inWords = <P extends Described>(provider: P): P => ({
  ...provider,
  name: NAMES[provider.id]?.() ?? provider.name,
  about: aboutOf(provider.id) ?? provider.about,
  settings: provider.settings.map((setting) => ({
    ...setting,
    label: labelOf(provider.id, setting.name) ?? setting.label,
    hint: setting.hint ? (hintOf(provider.id, setting.name) ?? setting.hint) : (setting.hint ?? null),
  })),
});
