// The voice components of the chat, loaded as one chunk.
export { default as Recorder } from './Recorder.svelte';
export { default as SpeakMode } from './SpeakMode.svelte';
export { default as Spoken } from './Spoken.svelte';
export { default as Talk } from './Talk.svelte';
