/** By which a process of the owner's user says through what surface its person has come. */
export const SURFACE_HEADER = "pawl-surface";
