/** It stands in paths of URLs and of storages, where `.` and `..` would be somebody else's. */
export const TENANT_ID = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;

export const TENANT_ID_RULE = "has 1 to 64 letters, digits, `_`, `.` and `-`, and is neither `.` nor `..`";
