import { describeRecordsContract } from "../records/records.contract.ts";
import { SYSTEM_RECORDS } from "../records/records-under-test.ts";

for (const records of SYSTEM_RECORDS) describeRecordsContract(records);
