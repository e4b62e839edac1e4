// Vendor names. The gateway's lists include them, too, but omit hidden providers.
const NAMES: Record<string, string> = {
  tts_cloud_1: 'ElevenLabs',
  tts_cloud_2: 'OpenAI',
  tts_cloud_3: 'Google Cloud',
  tts_local_1: 'Piper',
  tts_local_2: 'Coqui',
  stt_cloud_1: 'OpenAI',
  stt_cloud_2: 'Groq',
  stt_cloud_3: 'Deepgram',
  stt_cloud_4: 'Google Cloud',
  stt_cloud_5: 'Mistral',
  stt_local_1: 'Voxtral (local)',
  stt_local_2: 'whisper.cpp',
  stt_local_3: 'sherpa-onnx',
};

export const vendorName = (id: string): string => NAMES[id] ?? id;
